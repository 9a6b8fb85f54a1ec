"""The steps nbgrader takes to turn a solved notebook into a student edition, listed by name to avoid imports here."""

OURS, THEIRS = "authoring.preprocessors", "nbgrader.preprocessors"

GENERATE = [
    f"{THEIRS}.IncludeHeaderFooter",
    f"{THEIRS}.InstantiateTests",
    f"{OURS}.WriteRecord",
    f"{OURS}.RemoveReferences",
    f"{THEIRS}.LockCells",
    f"{OURS}.LeaveYourTurn",
    f"{OURS}.ClearExerciseOutput",
    f"{OURS}.PermitExerciseErrors",
    f"{OURS}.FoldLongChecks",
    f"{OURS}.HelpWithoutGradlab",
    f"{THEIRS}.CheckCellMetadata",
    f"{THEIRS}.ComputeChecksums",
    f"{THEIRS}.SaveCells",
    f"{THEIRS}.ClearHiddenTests",
    f"{THEIRS}.ClearMarkScheme",
    f"{THEIRS}.ComputeChecksums",
    f"{THEIRS}.CheckCellMetadata",
]
