import Glibc

/// The system's users. The functions may read files and ask name services, so call them off the main queue.
package enum SystemUser {
  /// The login name of a user number; nil if there is none.
  package static func name(of number: UInt32) -> String? {
    lookUp { record, texts, size, found in getpwuid_r(number, record, texts, size, found) }?.name
  }

  /// The user number of a login name; nil if there is none.
  package static func number(of name: String) -> UInt32? {
    lookUp { record, texts, size, found in getpwnam_r(name, record, texts, size, found) }?.number
  }

  /// Repeats the call with a larger buffer while the record doesn't fit (`ERANGE`, see getpwnam(3)).
  static func lookUp(
    _ call: (
      UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32
  ) -> (name: String?, number: UInt32, group: UInt32)? {
    var size = 16 << 10
    while size <= 1 << 20 {
      var record = passwd()
      var found: UnsafeMutablePointer<passwd>?
      var texts = [CChar](repeating: 0, count: size)
      let code = call(&record, &texts, texts.count, &found)
      if code == ERANGE {
        size *= 2
        continue
      }
      // The record's texts live in `texts`, which must outlast the copy.
      return withExtendedLifetime(texts) {
        guard code == 0, let found else { return nil }
        return (found.pointee.pw_name.map { String(cString: $0) }, found.pointee.pw_uid, found.pointee.pw_gid)
      }
    }
    return nil
  }
}
