package ledger

var LotID = lotID
