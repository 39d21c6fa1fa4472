#!/bin/sh
# Stops the service when the package goes for good: deb says "remove", rpm 0; an upgrade says "upgrade" and 1.
set -e
case "${1:-remove}" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now imagegend.service || true
	fi
	;;
esac
