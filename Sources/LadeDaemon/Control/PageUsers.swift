import Glibc
import LadeTypes
import WebPages

/// Whom a proxy in front of the pages may name: who could connect to the control socket, by its owner, group and mode. What a
/// user may do then is up to ``Permissions``, as there.
struct PageUsers: Sendable {
  /// The socket's path. Its folders aren't looked at.
  let controlSocket: String

  /// Finds a user by login name. Blocks.
  @Sendable func find(_ name: String) -> NamedUser {
    guard let account = SystemAccount(name: name) else { return .unknown }
    // Whoever controls the proxy's names would otherwise have everything.
    guard account.number != 0, account.number != geteuid() else { return .privileged }
    return mayConnect(account) ? .user(account.number, group: account.group) : .outsider
  }

  /// As the kernel decides it: who owns it isn't judged by the group's bits, and so on.
  private func mayConnect(_ account: SystemAccount) -> Bool {
    var status = stat()
    guard stat(controlSocket, &status) == 0 else { return false }
    let bit =
      if account.number == status.st_uid { S_IWUSR } else if account.groups.contains(status.st_gid) { S_IWGRP } else {
        S_IWOTH
      }
    return status.st_mode & bit != 0
  }
}
