package adminserver

import (
	"context"
	"net"
	"os/user"

	"github.com/imagegend/imagegend/imagegen/account"
)

// AsCommand returns a context in which a command of this process acts, under the name of the user who runs it. The
// audit trail takes the actor of each act from its context.
func AsCommand(ctx context.Context) context.Context {
	return account.WithActor(ctx, account.Actor{Via: account.ViaCommand, Name: ownName()})
}

// asPeer returns a context in which the process at the other end of the socket acts. It is a server's ConnContext, so
// the peer is determined once for each connection. Where the system does not say whose process that is, it is taken
// for one of the user who runs the server, since nobody else can open the socket.
func asPeer(ctx context.Context, c net.Conn) context.Context {
	name, known := peerName(c)
	if !known {
		name = ownName()
	}
	return account.WithActor(ctx, account.Actor{Via: account.ViaSocket, Name: name})
}

// ownName returns the name of the user of this process; "" if the system does not know it. No right depends on the
// name, so a missing one is not an error.
func ownName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
