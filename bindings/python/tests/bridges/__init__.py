"""Models of other programs as networks, and what travels between them: planetbridging."""
import source  # noqa: F401, the package on the path
