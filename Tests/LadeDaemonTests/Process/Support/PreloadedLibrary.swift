import Foundation
import Glibc
import TestSupport

/// A library in C that tests preload into a daemon.
enum PreloadedLibrary {
  /// Compiles a source, beside the programs that it is for.
  /// - Parameter path: of the source, in `Tests`.
  static func compiled(_ path: String) throws -> String {
    guard let compiler = ["cc", "gcc", "clang"].lazy.compactMap(Products.system).first else {
      throw ProgramFailure(program: "cc", arguments: [], what: "it isn't installed: run make deps", error: "")
    }
    let source = Products.package.appendingPathComponent("Tests/" + path)
    let name = source.deletingPathExtension().lastPathComponent + ".so"
    // Under a name of its own until it is whole: other test runs may want it, too.
    let library = Products.folder.appendingPathComponent(name).path
    let made = library + ".\(getpid())"
    let run = try ProgramOutput.now(
      compiler, ["-shared", "-fPIC", "-O1", "-o", made, source.path, "-ldl"], environment: Products.environment([:]))
    guard run.status == 0, rename(made, library) == 0 else {
      throw ProgramFailure(program: "cc", arguments: [source.path], what: "status \(run.status)", error: run.error)
    }
    return library
  }

  /// What has a daemon load it, besides what this process has loaded.
  static func variable(_ library: String) -> String {
    [ProcessInfo.processInfo.environment["LD_PRELOAD"], library].compactMap { $0 }.joined(separator: ":")
  }
}
