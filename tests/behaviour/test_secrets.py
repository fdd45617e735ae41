"""Secrets: what looks like one reaches neither our files nor the screen."""

from pathlib import Path

from tests.support.project import Project

KEY = "sk-ant-REDACTED"
PLAIN = "correct-horse-battery-staple"


def test_a_key_in_environment_output_and_prompt_is_in_no_file_and_on_no_screen(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    (tmp_path / "agent.sh").write_text(
        "#!/bin/sh\ncat\n"
        f'echo "my key is {KEY}"\necho "$SHOP_TOKEN" >&2\n'
        'echo "note $SHOP_TOKEN" >> "$(sed -n s/^notes=//p p.txt)"\n'
    )
    (tmp_path / "agent.sh").chmod(0o755)
    folder = tmp_path / "loops" / "x"
    folder.mkdir(parents=True)
    (folder / "loop.yaml").write_text(
        "name: x\ncompletion: validated\nmax_iterations: 1\n"
        "validate: echo $SHOP_TOKEN\n"
        "output_parse: 'answer:ANSWER'\n"
        "agent: {command: sh -c 'cat > p.txt && ./agent.sh && cat p.txt'}\n"
    )
    (folder / "prompt.md").write_text(
        f"notes=${{PROGRESS_FILE}}\nuse {KEY}\nANSWER: {KEY}\n"
    )
    ran = project.doit("loop:x", "session=s", env={"SHOP_TOKEN": PLAIN})
    assert ran.code == 0, ran.out + ran.err
    for path in (tmp_path / ".loop").rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert KEY.encode() not in content, path
            assert PLAIN.encode() not in content, path
    assert KEY not in ran.out + ran.err
    assert PLAIN not in ran.out + ran.err
    kept = tmp_path / ".loop" / "s" / "x" / "iterations" / "0001" / "output.md"
    assert "my key is" in kept.read_text()
