package postgres

import (
	"context"
	"net"
	"time"
)

// longestSilence is how long the network may be silent where it has to answer: a machine that is gone, or a firewall that has
// forgotten a connection, closes none, and the system's own patience is a quarter of an hour.
const longestSilence = 10 * time.Second

// dial connects so that silence ends the connection.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: longestSilence / 2, Interval: longestSilence / 10, Count: 5},
		Control:         boundSilence,
	}
	return d.DialContext(ctx, network, address)
}
