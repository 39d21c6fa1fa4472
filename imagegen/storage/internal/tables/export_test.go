package tables

// CodeRow is the form of a Row.
var CodeRow = codeRow
