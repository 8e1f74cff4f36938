import Glibc

/// Prints a line that is seen at once, also where standard output is a file or a pipe.
package func say(_ line: some CustomStringConvertible) {
  print(line)
  fflush(nil)
}
