import Foundation

@testable import ManagedObjects

/// Compiled models, and the compressed ones in Core Data stores: read, or refused with a typed error.
final class CompiledModelTarget: FuzzTarget {
  private static let limit = 1 << 20

  func run(_ input: [UInt8]) throws {
    let data = Data(input)
    do throws(ArchiveDamage) {
      read(try Inflate.decompress(data, limit: Self.limit))
    } catch {
      read(data)
    }
  }

  private func read(_ data: Data) {
    do throws(ModelError) {
      _ = try CompiledModelReader.read(data, file: "model")
    } catch {
      // Damaged input.
    }
  }
}
