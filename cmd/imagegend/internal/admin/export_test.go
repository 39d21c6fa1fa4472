package admin

// Bind opens a socket, before its mode is set.
var Bind = bind

// StatusOf is the status and the code of an answer with an error.
var StatusOf = statusOf
