#!/bin/sh
# Before removing (deb: "remove", rpm: 0), not before upgrading. The data in /var/lib/boon stays.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
  if [ -d /run/systemd/system ]; then
    systemctl disable --now boon.service
  fi
fi
