"""What the kit is called, the one place that says its version, and the version of the conversation that it speaks."""

NAME = "python"
__version__ = "0.1.0"
PROTOCOL = 1
