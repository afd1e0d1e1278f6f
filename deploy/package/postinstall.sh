#!/bin/sh
# After installing or upgrading: a user of its own, and a service that the operator starts when the set-up is there.
set -e
if ! getent passwd boon >/dev/null; then
  useradd --system --home-dir /var/lib/boon --no-create-home --shell /usr/sbin/nologin --user-group boon
fi
if [ ! -e /var/lib/boon ]; then # boon apply comes before the first start, at which the unit would make it
  install -d -m 0700 -o boon -g boon /var/lib/boon
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart boon.service # only what ran before the upgrade
fi
if [ -z "$2" ] && [ ! -d /var/lib/boon/data ]; then
  echo "Boon is installed. Next: boon apply a set-up (examples in the documentation), then systemctl enable --now boon"
fi
