package account

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// Actor is who does something to the service, for the audit trail. It decides nothing: who may do what
// is known before.
type Actor struct {
	Via     string          // the way it came: ViaCommand, ViaSocket, ViaConsole, ViaService, or a name of an embedder's
	Name    string          // a user's name in the console; that of the system's user on a command line
	User    imagegen.UserID // in the console
	Address string          // where it came from; "": this host
}

// The ways by which administrative acts come.
const (
	ViaCommand = "command" // a command that opened the database itself
	ViaSocket  = "socket"  // a command that asked the running server
	ViaConsole = "console"
	ViaOps     = "ops"     // a program with an operator key, whose identifier is the name
	ViaService = "service" // the server of its own accord
)

// String is the way and the name, such as console:alice.
func (a Actor) String() string {
	if a == (Actor{}) {
		return ""
	}
	return a.Via + ":" + a.Name
}

type actorKey struct{}

// WithActor returns a context of which stores learn who acts: whatever is done with it goes down in the
// audit trail under that name.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns who acts by a context. The zero Actor: it was not said; a program that embeds the
// engine need not.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
