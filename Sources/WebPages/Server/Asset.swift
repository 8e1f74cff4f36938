/// A file that pages refer to, embedded in the program. Its address has its version, so browsers keep it.
struct Asset: Sendable {
  let name: String
  let contentType: String
  let bytes: [UInt8]
  /// Changes with the bytes; no secret.
  let version: String

  private init(_ name: String, _ contentType: String, _ bytes: [UInt8]) {
    self.name = name
    self.contentType = contentType
    self.bytes = bytes
    // FNV-1a.
    let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    version = String(hash, radix: 16)
  }

  static let styles = Asset("pages.css", "text/css; charset=utf-8", PackageResources.pages_css)
  static let script = Asset("pages.js", "text/javascript; charset=utf-8", PackageResources.pages_js)
  static let worker = Asset("events.js", "text/javascript; charset=utf-8", PackageResources.events_js)
  static let upload = Asset("upload.js", "text/javascript; charset=utf-8", PackageResources.upload_js)
  static let keys = Asset("keys.js", "text/javascript; charset=utf-8", PackageResources.keys_js)
  static let completion = Asset(
    "completion.js", "text/javascript; charset=utf-8", PackageResources.completion_js)
  static let mapping = Asset("mapping.js", "text/javascript; charset=utf-8", PackageResources.mapping_js)
  static let icon = Asset("icon.svg", "image/svg+xml", PackageResources.icon_svg)

  static let all = [styles, script, worker, upload, keys, completion, mapping, icon]

  /// The entity tag (RFC 9110, 8.8.3).
  var tag: String { "\"\(version)\"" }
}
