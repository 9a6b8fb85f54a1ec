"""Grade submissions with nbgrader: sandboxed, in parallel, with points from values compared outside the kernel."""

import sys

# jsonschema, which checks notebooks, would compile this grammar of web addresses whenever it is imported: two seconds.
sys.modules.setdefault("rfc3987_syntax", None)
