package tables

// Row is a generation as it is stored, in the form CodeRow.
type Row = row

var CodeRow = codeRow
