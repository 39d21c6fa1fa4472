package daemon

// NewLog is what tests look at without a server.
var NewLog = newLog
