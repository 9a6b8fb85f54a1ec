"""The exchange as a class uses it: what lies in it can be replaced by its owner only.

Release makes it so, and collect asks the file system whose a folder is and when it came there.
"""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment

from gradlab.exchange import require_course

SLACK = timedelta(minutes=10)  # between the time that a submission states and the end of its copy

try:
    import pwd
except ImportError:  # Windows, where nbgrader has no exchange
    pwd = None


class ReleaseSticky(ExchangeReleaseAssignment):
    """Release; in the exchange that nbgrader makes for everyone to write in, each can rename only what is their own."""

    def ensure_root(self):
        """Set the exchange's sticky bit as well, as `/tmp` has it; collect names one that belongs to another."""
        super().ensure_root()
        mode = os.stat(self.root).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX and os.stat(self.root).st_uid == os.geteuid():
            os.chmod(self.root, stat.S_IMODE(mode) | stat.S_ISVTX)


class CollectOwn(ExchangeCollect):
    """Collect for each student the newest folder that is the student's own.

    A folder that belongs to another account is left, and named; those of who collects and of root count as anybody's,
    as where a class was imported. `c.ExchangeCollect.check_owner = False` takes them all, where accounts and ids have
    different names. A folder that came later than its time says is named too: Linux notes when a folder was changed
    last, and a student cannot set that back.
    """

    def init_src(self):
        """Choose the folders; fails if another than its owner could have changed the course's folder."""
        super().init_src()
        try:
            require_course(Path(self.course_path))
        except PermissionError as error:
            self.fail(str(error))
        left = [record for record in self.src_records if self._owner(record) is not None]
        self.src_records = [record for record in self.src_records if record not in left]
        for record in self.src_records:
            came = datetime.fromtimestamp(self._stat(record).st_ctime, UTC).replace(tzinfo=None, microsecond=0)
            if came - record["timestamp"].replace(tzinfo=None) > SLACK:
                self.log.error(
                    f"{record['username']}: handed in at {record['timestamp']:%Y-%m-%d %H:%M:%S} UTC by its own word, "
                    f"but in the exchange only since {came} UTC ({record['filename']}). If the exchange was not "
                    "moved or put back since, ask."
                )

    def _sort_by_timestamp(self, records):
        """The newest first, as with nbgrader, but those of another account last; each of these is named."""
        foreign = {record["filename"]: owner for record in records if (owner := self._owner(record)) is not None}
        for name, owner in foreign.items():
            self.log.error(f"{name} is not collected: it belongs to {owner}, and says that it is another's.")
        return sorted(super()._sort_by_timestamp(records), key=lambda record: record["filename"] in foreign)

    def _owner(self, record) -> str | None:
        """The account to which a student's folder belongs, if it is another student's; else None."""
        uid = self._stat(record).st_uid
        if not self.check_owner or pwd is None or uid in (0, os.geteuid()):
            return None
        try:
            owner = pwd.getpwuid(uid).pw_name
        except KeyError:
            owner = f"the unknown account {uid}"
        return None if owner == record["username"] else owner

    def _stat(self, record) -> os.stat_result:
        return os.stat(os.path.join(self.inbound_path, record["filename"]))
