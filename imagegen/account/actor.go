package account

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// Actor is who does something to the service, for the audit trail. It grants no rights:
// what somebody may do is decided before.
type Actor struct {
	Via     string          // the way it came: ViaCommand, ViaSocket, ViaConsole, ViaService, or a name that an embedder chooses
	Name    string          // a user's name in the console; that of the system's user on a command line
	User    imagegen.UserID // in the console
	Address string          // where it came from; "": this host
}

// The ways in which an administrative act can be made.
const (
	ViaCommand = "command" // a command that opened the database itself
	ViaSocket  = "socket"  // a command that asked the running server
	ViaConsole = "console"
	ViaOps     = "ops"     // a program with an operator key, whose identifier is the name
	ViaService = "service" // the server of its own accord
)

// String returns the way and the name, such as console:alice.
func (a Actor) String() string {
	if a == (Actor{}) {
		return ""
	}
	return a.Via + ":" + a.Name
}

type actorKey struct{}

// WithActor returns a context that carries who acts. Stores write that name into the
// audit trail for everything that is done with the context.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a context. The zero Actor means that nobody was named; a
// program that embeds the engine need not name anybody.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
