"""Protect nbgrader's exchange: only owners can replace their files, and the collect step checks owners and times."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment

from gradlab.exchange import require_course

SLACK = timedelta(minutes=10)  # allowed from a submission's timestamp until its copy is complete

try:
    import pwd
except ImportError:  # Windows, where nbgrader has no exchange
    pwd = None


class ReleaseSticky(ExchangeReleaseAssignment):
    """nbgrader's release step, which also sets the sticky bit of a world-writable exchange.

    Users can then rename only their own files.
    """

    def ensure_root(self):
        """Create the exchange; set its sticky bit, like that of `/tmp`, if it belongs to this account."""
        super().ensure_root()
        mode = os.stat(self.root).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX and os.stat(self.root).st_uid == os.geteuid():
            os.chmod(self.root, stat.S_IMODE(mode) | stat.S_ISVTX)


class CollectOwn(ExchangeCollect):
    """nbgrader's collect step, limited to the newest folder that each student owns.

    Folders owned by other accounts are skipped and logged, except those of the collecting account and of root, which
    can belong to any student, for example after an import. `c.ExchangeCollect.check_owner = False` accepts all owners,
    for machines on which account names and student ids differ. Folders that arrived too long after their timestamp are
    logged too; the arrival is the change time, which students cannot set back.
    """

    def init_src(self):
        """Choose the folders to collect; fail if anyone but its owner could have changed the course's folder."""
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
                    f"{record['username']}: the submission's timestamp is {record['timestamp']:%Y-%m-%d %H:%M:%S} UTC, "
                    f"but it reached the exchange at {came} UTC ({record['filename']}). If the exchange was not moved "
                    "or restored since then, ask the student."
                )

    def _sort_by_timestamp(self, records):
        """Return the records, newest first as in nbgrader, but folders of other accounts last; log those folders."""
        foreign = {record["filename"]: owner for record in records if (owner := self._owner(record)) is not None}
        for name, owner in foreign.items():
            self.log.error(f"{name} is not collected: it belongs to {owner}, but claims to be another student's.")
        return sorted(super()._sort_by_timestamp(records), key=lambda record: record["filename"] in foreign)

    def _owner(self, record) -> str | None:
        """Return the account that owns a student's folder, if that is a different student's account; else None."""
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
