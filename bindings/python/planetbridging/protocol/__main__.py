from planetbridging.protocol import main

raise SystemExit(main())
