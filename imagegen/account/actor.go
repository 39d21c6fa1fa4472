package account

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// Actor is who performs an act, for the audit trail. It grants no rights: the caller checks before
// what somebody may do.
type Actor struct {
	Via     string          // how the act was requested: one of the constants such as ViaConsole, or a name of your own
	Name    string          // with ViaConsole the user's name, with ViaOps the key's identifier, else the system's user
	User    imagegen.UserID // with ViaConsole
	Address string          // the network address of the actor; "": this host
}

// The ways in which an act can be requested.
const (
	ViaCommand = "command" // by a command that opened the database itself
	ViaSocket  = "socket"  // by a command, through the running server
	ViaConsole = "console"
	ViaOps     = "ops"     // by a program with an operator key
	ViaService = "service" // by the server itself
)

// String returns Via and Name, such as console:alice; "" for the zero Actor.
func (a Actor) String() string {
	if a == (Actor{}) {
		return ""
	}
	return a.Via + ":" + a.Name
}

type actorKey struct{}

// WithActor returns a context that carries an actor. Stores write the actor into the audit trail
// for every act with this context.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a context; the zero Actor if there is none. A program that embeds
// the engine need not name actors.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
