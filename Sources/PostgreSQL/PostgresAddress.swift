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

  /// The environment by which PostgreSQL's own programs connect as a string says: nothing of it needs to be among their arguments,
  /// which every user of the machine can read. Keywords without a variable are left out.
  package static func environment(of string: String, password: String?) -> [String: String] {
    var environment: [String: String] = [:]
    if let options = PQconninfoParse(string, nil) {
      defer { PQconninfoFree(options) }
      var option = options
      while option.pointee.keyword != nil {
        if let name = option.pointee.envvar, let value = option.pointee.val {
          environment[String(cString: name)] = String(cString: value)
        }
        option += 1
      }
    }
    if let password { environment["PGPASSWORD"] = password }
    return environment
  }
}
