"""An agent's environment: what of ours it gets to see."""

from collections.abc import Iterable, Mapping
from typing import Literal

Policy = Literal["inherit", "minimal"] | tuple[str, ...]

# What a program cannot do without, and what leads it through a company's network.
_BASE = ("HOME", "PATH")
_MINIMAL = (
    *(*_BASE, "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TMPDIR", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "XDG_*"),
)


def passed_on(
    environment: Mapping[str, str], policy: Policy, own: Iterable[str] = ()
) -> dict[str, str]:
    """Return the variables that an agent gets; `own` are those it is known to need.

    >>> passed_on({"PATH": "/bin", "A_KEY": "x", "B": "y"}, ("A_*",))
    {'PATH': '/bin', 'A_KEY': 'x'}
    """
    if policy == "inherit":
        return dict(environment)
    names = (*_MINIMAL, *own) if policy == "minimal" else (*_BASE, *policy)
    return {k: v for k, v in environment.items() if _is_named(k, names)}


def _is_named(name: str, names: Iterable[str]) -> bool:
    return any(
        name.startswith(one[:-1]) if one.endswith("*") else name == one for one in names
    )
