"""The steps from a solved notebook to the student edition, and to the site's, listed by name to avoid imports here."""

OURS, THEIRS, SITE = "authoring.preprocessors", "nbgrader.preprocessors", "authoring.site.preprocessors"

GENERATE = [
    f"{THEIRS}.IncludeHeaderFooter",
    f"{THEIRS}.InstantiateTests",
    f"{OURS}.WriteRecord",
    f"{OURS}.RemoveReferences",
    f"{THEIRS}.LockCells",
    f"{OURS}.LeaveYourTurn",
    f"{OURS}.PrepareExercises",
    f"{OURS}.HelpWithoutGradlab",
    f"{THEIRS}.CheckCellMetadata",
    f"{THEIRS}.ComputeChecksums",
    f"{THEIRS}.SaveCells",
    f"{THEIRS}.ClearHiddenTests",
    f"{THEIRS}.ClearMarkScheme",
    f"{THEIRS}.ComputeChecksums",
    f"{THEIRS}.CheckCellMetadata",
]

READ = [
    f"{OURS}.RemoveReferences",
    f"{OURS}.LeaveYourTurn",
    f"{SITE}.SayWhatIsTested",
    f"{SITE}.ShowPredictions",
    f"{SITE}.ShowPayoffs",
    f"{SITE}.SayHowToRead",
    "authoring.site.write.WriteHere",
    f"{SITE}.NameCells",
    f"{SITE}.LinkPages",
]
