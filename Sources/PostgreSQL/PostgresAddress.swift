import CPostgreSQL
import Glibc

/// Connection strings, as the configuration has them.
package enum PostgresAddress {
  /// What is wrong with a string, in words without it; nil if nothing is. Doesn't connect.
  package static func problem(of string: String) -> String? {
    guard string.contains("=") || string.contains("://") else {
      return "write a URI such as postgresql:///shop, or keywords such as service=shop"
    }
    // libpq's reason would repeat a part of the string.
    guard let options = PQconninfoParse(string, nil) else {
      return "it isn't a connection string that libpq understands"
    }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      // libpq marks what a dialogue would hide, such as the password of a key.
      let isSecret =
        String(cString: keyword) == "password" || option.pointee.dispchar?.pointee == CChar(UInt8(ascii: "*"))
      if isSecret, option.pointee.val != nil {
        return "a password doesn't belong into the configuration: name a `credential`, or a passfile"
      }
      option += 1
    }
    return nil
  }
}
