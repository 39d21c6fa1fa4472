package postgres

import (
	"context"
	"net"
	"time"
)

// longestSilence is how long the other end may stay silent when it has to answer. A machine that is gone, or a
// firewall that has forgotten a connection, does not close it, and the system itself would wait for a quarter of an
// hour.
const longestSilence = 10 * time.Second

// dial connects so that silence ends the connection. Keep-alive probes notice it on a connection that is idle: the
// first probe after half of longestSilence, five unanswered ones in the other half. On a connection with bytes under
// way the system sends no probes; boundSilence covers that case.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: longestSilence / 2, Interval: longestSilence / 10,
			Count: 5},
		Control: boundSilence,
	}
	return d.DialContext(ctx, network, address)
}
