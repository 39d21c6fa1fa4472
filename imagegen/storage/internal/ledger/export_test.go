package ledger

var CountSome = countDays
