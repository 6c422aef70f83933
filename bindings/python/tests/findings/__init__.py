"""What a user found, one test for each: tests/findings/README.md has the list."""
import source  # noqa: F401, the package on the path
