"""Makes the wheel's own modules importable, as `make test-wheel` finds them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
