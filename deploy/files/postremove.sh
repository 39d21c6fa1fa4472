#!/bin/sh
# The data stays, also when the package is purged: credits and images are worth more than a tidy disk.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "${1:-}" = purge ] && [ -d /var/lib/imagegend ]; then
	echo "imagegend: /var/lib/imagegend holds credits and images, and stays; remove it yourself if nobody needs it"
fi
