import Hummingbird

/// A proxy in front of the pages that signs browsers in itself, and names the user with each request that it passes on.
package struct WebProxy: Sendable, Hashable {
  /// The field of a request's head that has the user's login name.
  package static let usualHeader = "X-Remote-User"

  /// The user as whom the proxy runs. Requests of nobody else may name users.
  package let user: UInt32
  /// The field's name.
  package let header: String

  /// - Parameter header: nil is returned for what can't be the name of a field, and for those that browsers use.
  package init?(user: UInt32, header: String = Self.usualHeader) {
    guard let name = HTTPFields.Element.Name(header), !Self.isOfBrowsers(name) else { return nil }
    self.user = user
    self.header = header
  }

  private static func isOfBrowsers(_ name: HTTPFields.Element.Name) -> Bool {
    ["host", "cookie", "origin"].contains(name.canonicalName) || name.canonicalName.hasPrefix("sec-")
  }
}

/// Whom a proxy has named.
package enum NamedUser: Sendable, Hashable {
  /// The number of a user who may use the control socket, and of the user's own group.
  case user(UInt32, group: UInt32)
  case unknown
  /// Root, or the daemon's own user.
  case privileged
  /// A user who couldn't connect to the control socket.
  case outsider
}
