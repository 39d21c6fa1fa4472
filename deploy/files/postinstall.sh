#!/bin/sh
# Makes the user and the data directory; an upgrade restarts a service that runs.
set -e
if ! getent passwd imagegend >/dev/null 2>&1; then
	if command -v useradd >/dev/null; then
		useradd --system --user-group --home-dir /var/lib/imagegend --no-create-home --shell /usr/sbin/nologin imagegend
	else
		addgroup -S imagegend 2>/dev/null || true
		adduser -S -D -H -h /var/lib/imagegend -s /sbin/nologin -G imagegend imagegend
	fi
fi
if [ ! -d /var/lib/imagegend ]; then
	mkdir -m 0700 /var/lib/imagegend
	chown imagegend:imagegend /var/lib/imagegend
fi
if [ -e /etc/imagegend/imagegend.env ]; then # an operator may have removed it
	chown root:imagegend /etc/imagegend/imagegend.env
	chmod 0640 /etc/imagegend/imagegend.env
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart imagegend.service
elif command -v rc-service >/dev/null; then
	rc-service --ifstarted imagegend restart
fi
