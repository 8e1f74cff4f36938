package import ControlServer
import LadeTypes
package import WebPages

/// Pages for browsers: the section `web` of a configuration.
package struct WebConfiguration: Sendable, Equatable {
  /// Where the daemon listens; nil for nowhere, unless the service manager does.
  package var address: LoopbackAddress?
  /// The path of a Unix socket where it listens; nil as for ``address``.
  package var socket: String?
  /// How they are reached, and whether they change anything.
  package var settings = WebSettings()

  package init() {}
}

extension WebConfiguration {
  enum Key: String, CaseIterable {
    case address, socket, url, proxy
    case isReadOnly = "read_only"
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue, in folder: ConfigurationFolder) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    address = section[.address]?.loopbackAddress(example: 9465)
    socket = section[.socket]?.socketPath(in: folder)
    settings.url = section[.url]?.webURL()
    settings.proxy = section[.proxy].flatMap(WebProxy.init)
    settings.isReadOnly = section[.isReadOnly]?.flag() ?? settings.isReadOnly
    guard section[.url] == nil else { return }
    if section[.proxy] != nil {
      section.report("a proxy that names users needs `url: https://…`: requests under any other host are refused")
    } else if socket != nil {
      section.report("a browser can't open a Unix socket: write where the proxy in front of it is, as `url: https://…`")
    }
  }
}

extension WebProxy {
  fileprivate enum Key: String, CaseIterable {
    case user, header
  }

  /// Nil with a problem reported.
  fileprivate init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value),
      let user = section.required(.user, "the user as whom the proxy runs, such as www-data")?.userNumber()
    else { return nil }
    let header = section[.header]?.text()
    if section[.header] != nil, header == nil { return nil }
    guard let proxy = WebProxy(user: user, header: header ?? Self.usualHeader) else {
      section[.header]?.wrong("write the name of a field that only the proxy sets, such as \(Self.usualHeader)")
      return nil
    }
    self = proxy
  }
}

extension YAMLValue {
  /// The number of a user of this system, by name or number.
  fileprivate func userNumber() -> UInt32? {
    guard let text = anyText() else { return nil }
    if let number = UInt32(text), number != .max { return number }
    guard let number = SystemUser.number(of: text) else {
      wrong("there is no user of that name on this system")
      return nil
    }
    return number
  }

  fileprivate func webURL() -> WebURL? {
    guard let text = text() else { return nil }
    guard let url = WebURL(text) else {
      wrong("write it as scheme and host, without a path, such as https://lade.example.org")
      return nil
    }
    return url
  }
}
