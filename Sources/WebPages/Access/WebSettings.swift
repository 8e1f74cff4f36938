/// How the pages are reached, and what they may do.
package struct WebSettings: Sendable, Hashable {
  /// Where browsers find them if that isn't the listener's address: `https://lade.example.org`, without a slash at the
  /// end.
  package var url: WebURL?
  /// Whether nothing can be changed by them.
  package var isReadOnly: Bool
  /// Who names users; nil where each browser is signed in by a link. It needs a ``url``.
  package var proxy: WebProxy?

  package init(url: WebURL? = nil, isReadOnly: Bool = false, proxy: WebProxy? = nil) {
    self.url = url
    self.isReadOnly = isReadOnly
    self.proxy = proxy
  }

  /// Where browsers come that are signed in by a link; nil for the listener's address.
  var linkURL: WebURL? { proxy == nil ? url : nil }
}

/// The scheme, the host and perhaps the port of a web site.
package struct WebURL: Sendable, Hashable, CustomStringConvertible {
  package let description: String
  /// The host, in small letters and without the port.
  let host: String
  let isSecure: Bool

  /// - Parameter text: `https://lade.example.org` or `http://lade:8080`; nil for anything else. A slash at the end is
  ///   left out.
  package init?(_ text: String) {
    let text = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
    let authority = text.dropFirst(scheme.count)
    guard let host = HostName.of(authority) else { return nil }
    self.host = host
    isSecure = scheme == "https://"
    description = scheme + authority.lowercased()
  }
}

/// The host of a `Host` header.
enum HostName {
  /// The host in small letters, an address of IP version 6 with its brackets; nil for what isn't one.
  static func of(_ authority: some StringProtocol) -> String? {
    let text = authority.lowercased()
    let name: Substring
    let rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      name = text[...end]
      rest = text[text.index(after: end)...]
      guard name.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" }) else { return nil }
    } else {
      name = text.prefix { $0 != ":" }
      rest = text.dropFirst(name.count)
      guard name.utf8.allSatisfy(isNameByte) else { return nil }
    }
    guard !name.isEmpty, rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()) != nil) else { return nil }
    return String(name)
  }

  /// Whether a browser finds this machine under the name, whatever a name server says.
  static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
