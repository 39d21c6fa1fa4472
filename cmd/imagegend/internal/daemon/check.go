package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
)

// Check refuses settings that cannot be meant together, although each could be used by itself. from tells which were
// given as flags. serve, config validate and doctor call it, so that all three refuse the same; Run relies on it. It
// connects to nothing and touches no data.
func Check(s config.Settings, from *config.Sources) error {
	return cmp.Or(checkDev(s, from), s.Data.Check(), checkNodes(s), checkBackups(s), checkTLS(s), checkOps(s),
		checkAddresses(s), checkEvents(s))
}

// checkDev refuses what a service cannot have that keeps nothing and serves this machine alone. A data directory is
// refused only on the command line: in a file or a variable it is meant for other runs, and --dev leaves it alone.
func checkDev(s config.Settings, from *config.Sources) error {
	switch {
	case !s.Dev:
		return nil
	case from.Given("data-dir"):
		return errors.New("--dev keeps no data, so --data-dir cannot be combined with it")
	case s.Shared():
		return errors.New("--dev keeps no data, so --database cannot be combined with it")
	case s.BackupTo != "":
		return errors.New("--dev keeps no data, so --backup-to cannot be combined with it")
	case len(s.ACMEDomains) > 0:
		return errors.New("--dev keeps nothing, and a certificate has to be kept: --acme-domain has no place beside it")
	case !config.OnThisMachine(s.Addr):
		return fmt.Errorf("--dev serves this machine only, with a key that it prints; %s can be reached from others; use --addr 127.0.0.1:8080", s.Addr)
	}
	return nil
}

// checkNodes refuses, for a data directory, what only nodes on one database have.
func checkNodes(s config.Settings) error {
	switch {
	case s.Shared():
		return nil
	// Images in a data directory have no address but that of the service.
	case s.ImageLinks == config.Redirect:
		return errors.New("--image-links redirect needs an object store to lead to: --database and --images")
	// Each node takes a share of what upstreams allow. A directory has one node, which would take too little.
	case s.Nodes > 1:
		return errors.New("--nodes is for several nodes on one database: --database and --images")
	}
	return nil
}

// checkBackups refuses addresses that cannot be meant, backups of what several nodes share, since each would make the
// same one, and backups that would be lost with the data.
func checkBackups(s config.Settings) error {
	switch {
	case s.BackupTo == "":
		return nil
	case backups.CheckAddress(s.BackupTo) != nil:
		return fmt.Errorf("--backup-to: %w", backups.CheckAddress(s.BackupTo))
	case s.Shared():
		return errors.New("--backup-to is for a data directory; a database and a bucket are backed up by their own means, see docs/scaling.md")
	case !backups.InBucket(s.BackupTo) && data.Inside(s.BackupTo, s.DataDir):
		return fmt.Errorf("%s lies in the data directory; backups belong elsewhere, best on another disk: name it with --backup-to", s.BackupTo)
	}
	return nil
}

// checkTLS refuses half a certificate, and two.
func checkTLS(s config.Settings) error {
	switch {
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key belong together; give both, or neither")
	case s.TLSCert != "" && len(s.ACMEDomains) > 0:
		return errors.New("--tls-cert and --acme-domain each name a certificate; give one of them")
	}
	return nil
}

// checkOps refuses to serve operators' programs where others could listen in on their keys.
func checkOps(s config.Settings) error {
	switch {
	case !s.OpsAdmin:
		return nil
	case s.OpsAddr == "":
		return errors.New("--ops-admin needs an address: name one with --ops-addr, such as 127.0.0.1:9090")
	case config.OnThisMachine(s.OpsAddr) || Options{Settings: s}.encrypts() || len(s.TrustedProxies) > 0:
		return nil
	}
	return fmt.Errorf("with --ops-admin, operator keys would be sent without TLS to %s, which others can reach; use --ops-addr 127.0.0.1:9090, give a certificate "+
		"with --tls-cert, or name the proxy that speaks TLS in front of it with --trusted-proxy", s.OpsAddr)
}

// checkAddresses refuses to listen twice on one address: serve would say that another process has it.
func checkAddresses(s config.Settings) error {
	host, port, _ := net.SplitHostPort(s.Addr)
	opsHost, opsPort, _ := net.SplitHostPort(s.OpsAddr)
	if s.OpsAddr == "" || port != opsPort || port == "0" || host != opsHost && !everywhere(host) &&
		!everywhere(opsHost) {
		return nil
	}
	return fmt.Errorf("--addr %s and --ops-addr %s are the same port; choose another for --ops-addr, such as 9090",
		s.Addr, s.OpsAddr)
}

// everywhere reports whether a host to listen on means every address of this machine.
func everywhere(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}

// checkEvents refuses what only a feed of events can bring.
func checkEvents(s config.Settings) error {
	switch {
	case s.Events:
		return nil
	case s.Webhooks != "":
		return errors.New("--webhooks needs --events: without it there is nothing to send")
	case s.CostAbove > 0:
		return errors.New("--cost-notify-above needs --events: without it there is no feed that could tell of costs")
	}
	return nil
}
