"""Write both records of checks when an assignment is generated: the students' and the class's own."""

from authoring.chapter import Chapter
from authoring.preprocessors import WriteRecord

from .steps.answer_key import keep_record


class WriteRecords(WriteRecord):
    """A preprocessor that writes the students' record and stores the class's record, made from the class's seed."""

    def read(self, nb, resources) -> Chapter:
        """Run the solved notebook, store the class's record, and return the chapter for the students' record."""
        chapter = super().read(nb, resources)
        keep_record(self.parent.parent.coursedir, chapter)  # self.parent: the exporter; its parent: the converter
        return chapter
