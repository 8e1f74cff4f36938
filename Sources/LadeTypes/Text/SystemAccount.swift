import Glibc

/// A user of this system, with the groups that a process of the user would have (initgroups(3)).
package struct SystemAccount: Sendable, Hashable {
  package let number: UInt32
  /// The user's own group.
  package let group: UInt32
  /// All groups of the user.
  package let groups: Set<UInt32>

  /// Looks a login name up, which may wait for a name service. Nil if there is none of that name, or it can't be found out.
  package init?(name: String) {
    let record = SystemUser.lookUp { record, texts, size, found in getpwnam_r(name, record, texts, size, found) }
    guard let record, let groups = Self.groups(of: name, record.group) else { return nil }
    (number, group, self.groups) = (record.number, record.group, groups)
  }

  /// Repeats the call with a larger buffer while they don't fit (getgrouplist(3)).
  private static func groups(of name: String, _ group: UInt32) -> Set<UInt32>? {
    var room: Int32 = 64
    while room <= 1 << 16 {
      var groups = [gid_t](repeating: 0, count: Int(room))
      var count = room
      if getgrouplist(name, group, &groups, &count) >= 0 { return Set(groups.prefix(Int(count))) }
      room = max(count, room * 2)
    }
    return nil
  }
}
