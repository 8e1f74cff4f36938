#!/usr/bin/env bats
# The commands of the documents that need root and the installed service.
load outside.bash

@test "the commands of docs/operations.md work, in their order" {
  inside << 'END'
    install_package
    ladectl status --wait --timeout 30
    export USER=root
    "$LADE_REPOSITORY/Tests/DocumentsTests/run-blocks" "$LADE_REPOSITORY/docs/operations.md" --root
END
}

@test "every manual page is installed, and can be shown" {
  inside << 'END'
    install_package
    for page in man5/lade.yaml.5 man5/lade-model.5 man5/lade-ticket.5 man8/laded.8 man1/ladectl.1; do
      zcat "/usr/share/man/$page.gz" > /tmp/page || die "$page isn't installed"
      contains "$page" ".SH NAME" "$(cat /tmp/page)"
    done
END
}
