import Foundation

/// The files in `freshness/` of the state directory, by which other programs see what isn't fresh. They are empty.
struct FreshnessMarkers: Sendable {
  private let folder: URL

  /// - Parameter state: the daemon's state directory.
  init(state: String) { folder = URL(fileURLWithPath: state).appendingPathComponent("freshness") }

  /// Makes these the folder's files. There is no folder where there never was a file.
  func put(_ names: [String]) throws {
    let manager = FileManager.default
    let exists = manager.fileExists(atPath: folder.path)
    guard exists || !names.isEmpty else { return }
    if !exists { try manager.createDirectory(at: folder, withIntermediateDirectories: true) }
    let wanted = Set(names)
    let present = Set(try manager.contentsOfDirectory(atPath: folder.path))
    for name in present.subtracting(wanted) { try manager.removeItem(at: folder.appendingPathComponent(name)) }
    for name in wanted.subtracting(present) { try Data().write(to: folder.appendingPathComponent(name)) }
  }
}
