package admin

// Bind opens a socket, before its mode is set.
var Bind = bind
