"""Tables of cases and made-up data that stand beside the tests as YAML."""

from pathlib import Path
from typing import Any

import yaml


def table(name: str) -> Any:
    """What `tests/<name>.yaml` holds."""
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text("utf-8"))
