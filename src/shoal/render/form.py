"""The browser form of a suite: one HTML file that opens from disk and loads nothing."""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..core.files import writing


def write_form(data: Mapping[str, Any], path: Path) -> None:
    """Write the form of a suite; the same suite gives the same bytes."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("shoal.render"), autoescape=True, trim_blocks=True)
    script = environment.get_template("form.js").render()
    page = environment.get_template("form.html").render(
        name=data["name"],
        # No text of the suite can end the script element.
        data=Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")),
        script=Markup(script),
        hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    with writing(path) as stream:
        stream.write(page)
