# The package that is tested: that of `make deb`, or of LADE_CONFIGURATION=debug what `make check` packs.
configuration=${LADE_CONFIGURATION:-release}
package=$LADE_REPOSITORY/.build/deb
if [[ $configuration != release ]]; then package+=-$configuration; fi
package=$(echo "$package"/lade_*.deb)
# So many rows that there is time to do something to the daemon meanwhile.
many=400000
if [[ $configuration == debug ]]; then many=40000; fi
