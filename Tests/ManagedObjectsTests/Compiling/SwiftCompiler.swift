import Foundation
import TestSupport

/// The compiler that built the tests, with the modules that they were built with.
struct SwiftCompiler {
  /// What a piece of source comes to.
  struct Outcome {
    var status: Int32
    /// Everything that the compiler said.
    var text: String
    /// Its errors, without their places.
    var errors: [String] {
      text.split(separator: "\n").compactMap { line in
        line.range(of: " error: ").map { String(line[$0.upperBound...]) }
      }
    }
  }

  /// Where the build put the modules: beside the test bundle that is running.
  static let modules: URL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("Modules")

  /// What modules of ours need of libraries in C: the module maps of these.
  private static let moduleMaps: [String] = {
    let build = modules.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    var repository = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<4 { repository.deleteLastPathComponent() }
    let maps = [
      build.appendingPathComponent("checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap"),
      repository.appendingPathComponent("Sources/CArchive/module.modulemap"),
      modules.deletingLastPathComponent().appendingPathComponent("CSQLite.build/module.modulemap"),
      modules.deletingLastPathComponent().appendingPathComponent("CLinux.build/module.modulemap"),
    ]
    return maps.filter { FileManager.default.fileExists(atPath: $0.path) }.flatMap {
      ["-Xcc", "-fmodule-map-file=\($0.path)"]
    }
  }()

  private static let program: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// Whether there are a compiler and modules to use, those that the library's own module needs included.
  static var isThere: Bool {
    program != nil
      && ["ManagedObjects", "OrderedCollections"].allSatisfy {
        FileManager.default.fileExists(atPath: modules.appendingPathComponent($0 + ".swiftmodule").path)
      }
  }

  /// Checks a file in Swift 6 mode, without making code of it. Not the types alone: what may cross from one task to
  /// another is reported by a later pass.
  static func check(_ source: String) async throws -> Outcome {
    let scratch = try ScratchDirectory()
    let file = scratch.url.appendingPathComponent("main.swift")
    try source.write(to: file, atomically: true, encoding: .utf8)
    let run = try await ProgramOutput.of(
      program ?? URL(fileURLWithPath: "swiftc"),
      [
        "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library", "-I", modules.path, "-module-name",
        "Snippet",
        "-module-cache-path", scratch.url.appendingPathComponent("cache").path, file.path,
      ] + moduleMaps, environment: ProcessInfo.processInfo.environment)
    return Outcome(status: run.status, text: run.text + run.error)
  }
}
