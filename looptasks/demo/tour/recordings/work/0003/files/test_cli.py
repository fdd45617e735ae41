import pathlib
import subprocess
import sys
import tempfile
import unittest


class CommandLine(unittest.TestCase):
    def test_the_five_most_frequent_words_are_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "text")
            path.write_text("a b b c c c d e f", encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "tally.py", str(path)], capture_output=True, text=True
            )
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[:2], [["3", "c"], ["2", "b"]])
        self.assertEqual(len(lines), 5)


if __name__ == "__main__":
    unittest.main()
