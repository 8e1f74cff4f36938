package import Foundation

/// Where the build puts the programs that tests run.
package enum BuiltPrograms {
  /// The folder of the test bundle that is running, where the build puts programs too; or `$LADE_PRODUCTS`.
  package static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["LADE_PRODUCTS"] { return URL(fileURLWithPath: path) }
    return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  }()
}
