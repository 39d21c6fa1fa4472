package admin

import (
	"context"
	"net"
	"os/user"

	"github.com/imagegend/imagegend/imagegen/account"
)

// AsCommand returns a context in which the user of this process acts, by a command.
func AsCommand(ctx context.Context) context.Context {
	return account.WithActor(ctx, account.Actor{Via: account.ViaCommand, Name: ownName()})
}

// asPeer returns a context in which the process at the other end of the socket acts. Where the system does
// not tell whose it is, it is the owner's: nobody else can open the socket.
func asPeer(ctx context.Context, c net.Conn) context.Context {
	name, known := peerName(c)
	if !known {
		name = ownName()
	}
	return account.WithActor(ctx, account.Actor{Via: account.ViaSocket, Name: name})
}

func ownName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
